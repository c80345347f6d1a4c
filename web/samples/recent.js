const response = await fetch(
  "{{.URL}}/v1/draws/recent?game={{.Game}}&count=3",
  { headers: { "X-API-Key": process.env.LOTTERY_API_KEY } },
);
if (!response.ok) throw new Error((await response.json()).detail);
for (const draw of (await response.json()).draws) {
  console.log(draw.date, draw.tod, draw.number_str);
}
