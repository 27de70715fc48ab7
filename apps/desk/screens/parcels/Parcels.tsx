import { type ReactNode, useState } from 'react';
import { useLoaderData } from 'react-router';
import { addressOf } from '#client/deskClient.ts';
import { MOST_MARKED } from '#contract/deskLimits.ts';
import { Note } from '#ui/Alert.tsx';
import { Button, buttonClass } from '#ui/Button.tsx';
import { PageHeading } from '#ui/PageHeading.tsx';
import { ActionDialog } from '../../components/ActionDialog.tsx';
import { Gone } from '../../components/Gone.tsx';
import { Section } from '../../components/Section.tsx';
import { ShowMore } from '../../components/ShowMore.tsx';
import { Tabs } from '../../components/Tabs.tsx';
import { Tag } from '../../components/Tag.tsx';
import { call } from '../../lib/call.ts';
import { useMore } from '../../lib/useMore.ts';
import { counted } from '../../lib/words.ts';
import { type Chosen, type Goods, keyOf, lineOf, type ParcelData, tabs } from './loadParcels.ts';
import { MarkDialog, type Outcome } from './MarkDialog.tsx';
import styles from './Parcels.module.css';
import { ParcelTable } from './ParcelTable.tsx';

/** The page Parcels: goods to send, held goods, and sent goods. */
export function Parcels() {
  const data = useLoaderData() as ParcelData | null;
  if (!data) return <Gone what="page" />;
  return (
    <>
      <PageHeading title="Parcels" />
      <Tabs label="Parcels" tabs={tabs} />
      {data.tab === 'to-send' && <ToSend data={data} />}
      {data.tab === 'held' && <Held data={data} />}
      {data.tab === 'sent' && <Sent data={data} />}
    </>
  );
}

const usePages = (data: ParcelData) =>
  useMore(data, (next) => call('getParcels', { query: { tab: data.tab, next } }));

function ToSend({ data }: { data: ParcelData }) {
  const list = usePages(data);
  const [ticked, setTicked] = useState({ of: data, keys: new Set<string>() });
  // Ticks of an earlier list do not count, since those goods may have been sent meanwhile.
  const keys = ticked.of === data ? ticked.keys : new Set<string>();
  const [isOpen, setOpen] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [outcomes, setOutcomes] = useState<Outcome[]>([]);
  const sendable = list.rows.flatMap((parcel) =>
    parcel.address === null ? [] : parcel.goods.map((goods) => ({ parcel, goods })),
  );
  const chosen = sendable.filter(({ goods }) => keys.has(keyOf(goods)));
  const tick = (goods: readonly Goods[], isOn: boolean) => {
    const now = new Set(keys);
    for (const each of goods) now[isOn ? 'add' : 'delete'](keyOf(each));
    setTicked({ of: data, keys: now });
    setFault(null);
  };
  const open = () => {
    if (chosen.length === 0) setFault('Tick what was sent first.');
    else if (chosen.length > MOST_MARKED) setFault(`At most ${MOST_MARKED} can be marked at once.`);
    else setOpen(true);
  };
  return (
    <>
      {list.rows.length === 0 ? (
        <Nothing list={list}>Nothing is to be sent.</Nothing>
      ) : (
        <>
          <div className={styles.bar}>
            <Button slim onClick={open}>
              {chosen.length === 0 ? 'Mark as sent' : `Mark ${chosen.length} as sent`}
            </Button>
            <a
              className={buttonClass({ variant: 'second', slim: true })}
              href={addressOf('getPackingList', {}, { tab: data.tab })}
              download
            >
              Download packing list
            </a>
          </div>
          {fault && <Note isAnswer>{fault}</Note>}
          <ParcelTable
            caption="To send"
            rows={list.rows}
            ticks={{
              isTicked: (goods) => keys.has(keyOf(goods)),
              tick,
              all: sendable.map(({ goods }) => goods),
            }}
          />
        </>
      )}
      <ShowMore list={list} onPress={() => void list.showMore()} />
      {outcomes.length > 0 && <Outcomes outcomes={outcomes} />}
      {isOpen && <MarkDialog chosen={chosen} onDone={setOutcomes} onClose={() => setOpen(false)} />}
    </>
  );
}

function Held({ data }: { data: ParcelData }) {
  const list = usePages(data);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  return (
    <>
      {list.rows.length === 0 ? (
        <Nothing list={list}>Nothing is held.</Nothing>
      ) : (
        <ParcelTable
          caption="Held"
          rows={list.rows}
          hasStates
          action={{ name: 'Send anyway', press: setChosen, needsAddress: true }}
        />
      )}
      <ShowMore list={list} onPress={() => void list.showMore()} />
      {chosen && <MarkDialog evenHeld chosen={[chosen]} onClose={() => setChosen(null)} />}
    </>
  );
}

function Sent({ data }: { data: ParcelData }) {
  const list = usePages(data);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  return (
    <>
      {list.rows.length === 0 ? (
        <Nothing list={list}>Nothing was sent yet.</Nothing>
      ) : (
        <ParcelTable
          caption="Sent"
          rows={list.rows}
          hasStates
          isDone
          action={{ name: 'Take back', press: setChosen }}
        />
      )}
      <ShowMore list={list} onPress={() => void list.showMore()} />
      {chosen && (
        <ActionDialog
          asked={{ name: 'unshipGoods', body: { lines: [lineOf(chosen)] } }}
          title="Take back that this was sent?"
          done={`${chosen.goods.name} is to be sent again.`}
          onClose={() => setChosen(null)}
        />
      )}
    </>
  );
}

/** The text for a list without rows. Nothing is shown while further rows can be loaded. */
function Nothing({ list, children }: { list: { isEnd: boolean }; children: ReactNode }) {
  return list.isEnd ? <p className={styles.nothing}>{children}</p> : null;
}

/** The result for each of the goods that were to be marked as sent. */
function Outcomes({ outcomes }: { outcomes: readonly Outcome[] }) {
  const sent = outcomes.filter(({ outcome }) => outcome === 'sent').length;
  return (
    <Section title={`Marked just now: ${counted(sent, 'item')}`}>
      <ul className={styles.outcomes}>
        {outcomes.map(({ person, goods, outcome }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two may have the same name, and they do not move
          <li key={index}>
            {goods} for {person} <Tag tone={outcome === 'sent' ? 'good' : 'bad'}>{outcome}</Tag>
          </li>
        ))}
      </ul>
    </Section>
  );
}
