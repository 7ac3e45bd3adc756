-- Browser sessions and one-time links.

-- name: add_link
insert into one_time_links (brain, digest, principal, expires_at) values ($1, $2, $3, $4)

-- name: drop_old_links
delete from one_time_links where brain = $1 and expires_at < $2

-- name: use_link
-- A link of somebody who has left since begins nothing.
update one_time_links set used_at = $3
where brain = $1 and digest = $2 and used_at is null and expires_at > $3
  and exists (
      select from members m
      where m.brain = one_time_links.brain and m.id = one_time_links.principal and m.active and m.kind = 'person'
  )
returning principal

-- name: add_session
insert into sessions (brain, digest, principal, created_at, expires_at) values ($1, $2, $3, $4, $5)

-- name: drop_old_sessions
delete from sessions where brain = $1 and expires_at < $2

-- name: end_session
delete from sessions where brain = $1 and digest = $2

-- name: session_member
select m.id, m.name, m.role, m.tier
from sessions s join members m on m.brain = s.brain and m.id = s.principal and m.active and m.kind = 'person'
where s.brain = $1 and s.digest = $2 and s.expires_at > $3
