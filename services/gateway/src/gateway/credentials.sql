-- Whose an access token is.

-- name: access_by_digest
-- $3 audience, $4 the instant at which it must be alive; the digest given back finds the family's token.
select t.digest, a.scopes from oauth_access a join tokens t on t.brain = a.brain and t.id = a.family
where a.brain = $1 and a.digest = $2 and a.audience = $3 and a.expires_at > $4
