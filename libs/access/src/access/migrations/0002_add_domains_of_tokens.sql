-- Which domains' pages a token may see; null: those of any, as every token issued before.
alter table tokens add column domains text[];
