-- A check is read and planned again by every statement that writes to its table, a type is not: of what a small update of a
-- session costs, five checks were a third. A session is written at each step of a join.
alter table join_session
  drop constraint join_session_state_check,
  drop constraint join_session_origin_check,
  drop constraint join_session_upgrade_check,
  drop constraint join_session_lines_check,
  drop constraint join_session_paying_since;
create type join_session_state as enum ('started', 'detailed', 'ordering', 'paying', 'paid');
create type join_session_origin as enum ('invite', 'school', 'self_nomination', 'link', 'checkout');
create type join_session_upgrade as enum ('open', 'skipped', 'taken');
alter table join_session
  alter column state drop default,
  alter column upgrade drop default,
  alter column state type join_session_state using state::join_session_state,
  alter column origin type join_session_origin using origin::join_session_origin,
  alter column upgrade type join_session_upgrade using upgrade::join_session_upgrade,
  alter column state set default 'started',
  alter column upgrade set default 'open';
-- The one that guards money: who is paying is found by paying_since.
alter table join_session add constraint join_session_paying_since check ((state = 'paying') = (paying_since is not null));
