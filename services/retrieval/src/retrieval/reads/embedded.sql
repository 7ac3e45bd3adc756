-- name: missing_vectors
select missing_vectors($1::uuid[])
