package sandbox

// AccountID is the id of the sandbox's account.
const AccountID = "acct_1SandboxNoMoney"

// startOfTime is a Unix time before anything happened here: 2023-10-16.
const startOfTime int64 = 1697414400

func getAccount(_ *Sandbox, r *request) (object, error) {
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	nothing := object{
		"alternatives": []any{}, "current_deadline": nil, "currently_due": []any{}, "disabled_reason": nil, "errors": []any{},
		"eventually_due": []any{}, "past_due": []any{}, "pending_verification": []any{},
	}
	return object{
		"id": AccountID, "object": "account", "business_profile": nil, "business_type": nil,
		"capabilities":    object{"card_payments": "active", "transfers": "active"},
		"charges_enabled": true, "controller": object{"type": "account"}, "country": "US", "created": startOfTime,
		"default_currency": "usd", "details_submitted": true, "email": "sandbox@example.com", "payouts_enabled": true,
		"settings": nil, "type": "standard", "metadata": object{}, "requirements": nothing, "future_requirements": nothing,
		"tos_acceptance":    object{"date": nil, "ip": nil, "user_agent": nil},
		"external_accounts": sublist("/v1/accounts/"+AccountID+"/external_accounts", []any{}),
	}, nil
}

func getBalance(s *Sandbox, r *request) (object, error) {
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	var total int64
	for _, ch := range s.d.Charges.rows {
		if ch.Status == chargeSucceeded {
			total += ch.Amount - ch.Refunded
		}
	}
	amounts := func(n int64) []any {
		return []any{object{"amount": n, "currency": "usd", "source_types": object{"card": n}}}
	}
	return object{"object": "balance", "livemode": s.live, "available": amounts(total), "pending": amounts(0), "connect_reserved": []any{}}, nil
}
