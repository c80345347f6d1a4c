curl -H "X-API-Key: $LOTTERY_API_KEY" \
  "{{.URL}}/v1/draws/recent?game={{.Game}}&count=3"
