package sandbox

// accountID is the id of the sandbox's account.
const accountID = "acct_1SandboxNoMoney"

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
		"id": accountID, "object": "account", "business_profile": nil, "business_type": nil,
		"capabilities":    object{"card_payments": "active", "transfers": "active"},
		"charges_enabled": true, "controller": object{"type": "account"}, "country": "US", "created": startOfTime,
		"default_currency": "usd", "details_submitted": true, "email": "sandbox@example.com", "payouts_enabled": true,
		"settings": nil, "type": "standard", "metadata": object{}, "requirements": nothing, "future_requirements": nothing,
		"tos_acceptance":    object{"date": nil, "ip": nil, "user_agent": nil},
		"external_accounts": sublist("/v1/accounts/"+accountID+"/external_accounts", []any{}),
	}, nil
}
