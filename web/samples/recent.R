address <- "{{.URL}}/v1/draws/recent?game={{.Game}}&count=3&format=csv"
key <- Sys.getenv("LOTTERY_API_KEY")
draws <- read.csv(url(address, headers = c("X-API-Key" = key)),
                  colClasses = "character")
cat(paste(draws$date, draws$tod, draws$number_str), sep = "\n")
