import json, os, urllib.parse, urllib.request

def draws(path, **query):
    while True:
        address = "{{.URL}}" + path + "?" + urllib.parse.urlencode(query)
        request = urllib.request.Request(
            address, headers={"X-API-Key": os.environ["LOTTERY_API_KEY"]})
        with urllib.request.urlopen(request) as response:
            page = json.load(response)
        yield from page["draws"]
        if "next_cursor" not in page:
            return
        query["cursor"] = page["next_cursor"]

query = {"sum": 9, "game": "{{.Game}}", "from": "{{.From}}", "limit": 50}
for draw in draws("/v1/draws/by-sum", **query):
    print(draw["date"], draw["tod"], draw["number_str"])
