-- What the superuser sets up once; `{name}` and the like are quoted identifiers or literals put in by setup.py.

-- name: role_exists
select exists (select 1 from pg_roles where rolname = $1)

-- name: database_exists
select exists (select 1 from pg_database where datname = $1)

-- name: create_login_role
create role {name} login nosuperuser nocreatedb nocreaterole nobypassrls connection limit {connections}

-- name: create_owner_role
create role {name} nologin nosuperuser nobypassrls

-- name: set_password
alter role {name} password {password}

-- name: grant_pg_role
grant {granted} to {name}

-- name: create_database
create database {name} owner migrator template template0 encoding 'UTF8'

-- name: close_database
revoke all on database {name} from public

-- name: let_connect
grant connect on database {name} to {role}

-- name: close_public
revoke create on schema public from public

-- name: create_extension
create extension if not exists {name} with schema public

-- name: create_schema
create schema if not exists {name} authorization migrator

-- name: let_look
grant usage on schema {name} to {role}

-- name: let_create
grant create on schema {name} to {role}
