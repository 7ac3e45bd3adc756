-- name: promote_page
-- A promotion keeps the clock running: an edit is not a verification.
insert into pages as p (brain, page, review_days, live, source_seq)
values ($1, $2, $3, true, $4)
on conflict (brain, page) do update
   set review_days = excluded.review_days, live = true, source_seq = excluded.source_seq
 where p.source_seq < excluded.source_seq;

-- name: verify_page
-- A person held it true: the window starts again, and no rest is left from an earlier review.
update pages set verified_at = $3, snoozed_until = null, source_seq = $4
 where brain = $1 and page = $2 and source_seq < $4;

-- name: deprecate_page
update pages set live = false, source_seq = $3
 where brain = $1 and page = $2 and source_seq < $3;

-- name: remember_review
insert into reviews (brain, proposal, page, source_seq) values ($1, $2, $3, $4)
on conflict (brain, proposal) do nothing;

-- name: rest_review
-- A rejected review rests; the page is found through the proposal that asked.
update pages p set snoozed_until = $3, source_seq = $4
  from reviews r
 where r.brain = $1 and r.proposal = $2 and p.brain = r.brain and p.page = r.page and p.source_seq < $4;

-- name: list_windows
-- Every live page that was ever verified; one that never was has no window that could pass.
select page, verified_at, review_days, snoozed_until, raised_due
  from pages
 where brain = $1 and live and verified_at is not null
   and verified_at + make_interval(days => review_days) <= $2
 order by page;

-- name: mark_raised
update pages set raised_due = $3 where brain = $1 and page = $2;
