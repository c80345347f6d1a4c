import json, os, urllib.request

request = urllib.request.Request(
    "{{.URL}}/v1/draws/recent?game={{.Game}}&count=3",
    headers={"X-API-Key": os.environ["LOTTERY_API_KEY"]},
)
with urllib.request.urlopen(request) as response:
    for draw in json.load(response)["draws"]:
        print(draw["date"], draw["tod"], draw["number_str"])
