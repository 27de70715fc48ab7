import { useState } from 'react';
import { Form, Link } from 'react-router';
import { type InvitationState, invitationStates } from '#core/invitation.ts';
import { Note } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Checkbox, TextField } from '#ui/Field.tsx';
import { optionsOf, SelectField } from '#ui/SelectField.tsx';
import { DownloadCsv } from '../../components/DownloadCsv.tsx';
import { ShowMore } from '../../components/ShowMore.tsx';
import table from '../../components/Table.module.css';
import { Tag } from '../../components/Tag.tsx';
import { Time } from '../../components/Time.tsx';
import { call, takeFile } from '../../lib/call.ts';
import { useMore } from '../../lib/useMore.ts';
import { ExtendDialog, type Which, WithdrawDialog } from './ChangeDialogs.tsx';
import styles from './Invitations.module.css';
import type { Invitation, InvitationData } from './loadInvitations.ts';
import { Sample } from './Sample.tsx';

const NOTHING_TICKED = 'Tick codes first, or all that the filters find.';

/**
 * The list of invitations, with filters that are in the URL. Staff can change the ticked invitations, or all that the filters
 * find.
 */
export function InvitationList({ data }: { data: InvitationData }) {
  const { list: first, filter } = data;
  const [searched, setSearched] = useState({ of: first, to: first.searchedTo });
  const list = useMore(first, async (next) => {
    const page = await call('searchInvitations', { body: { filter, next } });
    setSearched({ of: first, to: page.searchedTo });
    return page;
  });
  const searchedTo = searched.of === first ? searched.to : first.searchedTo;
  if (!first.hasAny) return <Nothing />;
  return (
    <>
      <Filters key={JSON.stringify(filter)} data={data} />
      {list.rows.length === 0 ? (
        list.isEnd && <p className={styles.nothing}>No invitation is found.</p>
      ) : (
        <Rows rows={list.rows} data={data} />
      )}
      {searchedTo !== null && !list.isEnd && (
        <p role="status">
          Searched back to <Time at={searchedTo} day />
        </p>
      )}
      <ShowMore list={list} onPress={() => void list.showMore()} />
      {list.rows.length > 0 && (
        <DownloadCsv
          file="invitations.csv"
          load={() => takeFile('getInvitationsFile', { body: { filter } })}
        />
      )}
    </>
  );
}

function Nothing() {
  return (
    <>
      <p className={styles.nothing}>No invitations yet. Upload a file or make codes.</p>
      <Sample />
    </>
  );
}

function Filters({ data: { list, filter } }: { data: InvitationData }) {
  return (
    <Form className={styles.filters} preventScrollReset>
      <TextField id="f-text" name="text" label="Text" maxLength={200} defaultValue={filter.text ?? ''} />
      <TextField
        id="f-school"
        name="school"
        label="School"
        maxLength={200}
        defaultValue={filter.school ?? ''}
      />
      <SelectField
        id="f-programme"
        name="programme"
        label="Programme"
        placeholder="All"
        defaultValue={filter.programme ?? ''}
        options={list.programmes.map(({ key, name }) => ({ value: key, label: name }))}
      />
      <TextField
        id="f-campaign"
        name="campaign"
        label="Campaign"
        maxLength={100}
        defaultValue={filter.campaign ?? ''}
      />
      <TextField
        id="f-lastDay"
        name="lastDay"
        label="Last day until"
        type="date"
        defaultValue={filter.lastDay ?? ''}
      />
      <SelectField
        id="f-state"
        name="state"
        label="State"
        placeholder="All"
        defaultValue={filter.state ?? ''}
        options={optionsOf(invitationStates)}
      />
      <Button slim variant="second" type="submit">
        Show
      </Button>
    </Form>
  );
}

const tones: Record<InvitationState, 'plain' | 'good' | 'bad'> = {
  unused: 'plain',
  used: 'good',
  expired: 'bad',
  withdrawn: 'bad',
};

function Rows({ rows, data }: { rows: readonly Invitation[]; data: InvitationData }) {
  const [ticked, setTicked] = useState({ of: data, codes: new Set<string>(), isAll: false });
  const [open, setOpen] = useState<{ what: 'withdraw' | 'extend'; which: Which } | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const { codes, isAll } = ticked.of === data ? ticked : { codes: new Set<string>(), isAll: false };
  const tick = (some: readonly string[], isOn: boolean) => {
    const now = new Set(codes);
    for (const code of some) now[isOn ? 'add' : 'delete'](code);
    setTicked({ of: data, codes: now, isAll });
    setFault(null);
  };
  const change = (what: 'withdraw' | 'extend') => {
    if (isAll) setOpen({ what, which: { filter: data.filter } });
    else if (codes.size > 0) setOpen({ what, which: { codes: [...codes] } });
    else setFault(NOTHING_TICKED);
  };
  const all = rows.map(({ code }) => code);
  return (
    <>
      <div className={styles.bar}>
        <Button slim variant="second" onClick={() => change('withdraw')}>
          Withdraw
        </Button>
        <Button slim variant="second" onClick={() => change('extend')}>
          Extend
        </Button>
        <Checkbox
          id="all-found"
          label="All that the filters find"
          checked={isAll}
          onChange={({ target }) => {
            setTicked({ of: data, codes, isAll: target.checked });
            setFault(null);
          }}
        />
      </div>
      {fault && <Note isAnswer>{fault}</Note>}
      <table className={`${table.table} ${styles.list}`}>
        <caption className="sr">Invitations</caption>
        <thead>
          <tr>
            <th scope="col">
              <label className={styles.tick}>
                <input
                  type="checkbox"
                  disabled={isAll}
                  checked={isAll || all.every((code) => codes.has(code))}
                  onChange={({ target }) => tick(all, target.checked)}
                />
                <span className="sr">All on this page</span>
              </label>{' '}
              Code
            </th>
            <th scope="col">For</th>
            <th scope="col">School</th>
            <th scope="col">Programme</th>
            <th scope="col">Campaign</th>
            <th scope="col">Last day</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ code, person, school, programme, campaign, lastDay, state }) => (
            <tr key={code}>
              <th scope="row">
                <label className={styles.tick}>
                  <input
                    type="checkbox"
                    disabled={isAll}
                    checked={isAll || codes.has(code)}
                    onChange={({ target }) => tick([code], target.checked)}
                  />
                  <span>{code}</span>
                </label>
              </th>
              <td>
                {person ? (
                  <Link to={`/people/${person.id}`}>{person.name ?? `Person ${person.id}`}</Link>
                ) : (
                  'anybody'
                )}
              </td>
              <td>{school}</td>
              <td>{programme}</td>
              <td>{campaign}</td>
              <td>{lastDay && <Time at={lastDay} day />}</td>
              <td>
                <Tag tone={tones[state]}>{state}</Tag>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {open?.what === 'withdraw' && <WithdrawDialog which={open.which} onClose={() => setOpen(null)} />}
      {open?.what === 'extend' && <ExtendDialog which={open.which} onClose={() => setOpen(null)} />}
    </>
  );
}
