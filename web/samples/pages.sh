cursor=""
while :; do
  page=$(curl -s -G -H "X-API-Key: $LOTTERY_API_KEY" "{{.URL}}/v1/draws/by-sum" \
    -d sum=9 -d game={{.Game}} -d from={{.From}} -d limit=50 ${cursor:+-d cursor=$cursor})
  echo "$page" | grep -o '"number_str":"[0-9]*"'
  cursor=$(echo "$page" | sed -n 's/.*"next_cursor":"\([^"]*\)".*/\1/p')
  [ -n "$cursor" ] || break
done
