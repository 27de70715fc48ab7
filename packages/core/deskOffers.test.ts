import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deskOffers, type Places } from './deskOffers.ts';
import { giveAllBack, giveBack, type Remedy } from './remedy.ts';

const places: Places = {
  join: (uuid) =>
    uuid === 'join' ? { personId: 12, number: 2 } : uuid === 'other' ? { personId: 13, number: 1 } : null,
  payment: (intentId) => (intentId === 'pi_1' ? { personId: 12, number: 2 } : null),
  refund: (refund) => (refund === 'r' ? { personId: 12, number: 2 } : null),
};
const pathsOf = (remedy: Remedy) => deskOffers(remedy, places).offers.map(({ path }) => path);

for (const [remedy, paths] of [
  [giveBack('join', ['membership']), ['/people/12?do=refund&join=2&types=membership&items=']],
  [giveAllBack('join'), ['/people/12?do=refund&join=2&types=membership%2Cmembership_upgrade&items=all']],
  [
    giveBack('join', [], { items: [30, 31], isIneligible: true }),
    ['/people/12?do=refund&join=2&types=&items=30%2C31&ineligible='],
  ],
  [{ do: 'refund payment', intentId: 'pi_1' }, ['/people/12?do=refund-payment&payment=pi_1']],
  [{ do: 'refund payment', intentId: 'pi_2' }, ['/?do=refund-payment&payment=pi_2']],
  [{ do: 'assign refund', refund: 'r' }, ['/people/12?do=assign&refund=r']],
  [{ do: 'settle', subject: 'pi_1' }, ['/people/12?do=settle&join=2']],
  [{ do: 'settle', subject: 'join' }, ['/people/12?do=settle&join=2']],
  [
    { do: 'merge or keep apart', uuid: 'join', other: 'other' },
    ['/people/12?do=join&other=13', '/people/12?do=keep-apart&other=13'],
  ],
  [{ do: 'reject finally', uuid: 'join', reason: 'outdated' }, ['/transcripts/12/2']],
  [{ do: 'print certificate', uuid: 'join' }, ['/people/12?do=certificate&join=2']],
  [{ do: 'read story', uuid: 'join' }, ['/people/12/story']],
  [{ do: 'retry at HubSpot', uuid: 'join' }, ['/people/12?do=retry-hubspot']],
  [{ do: 'retry at HubSpot', uuid: null }, ['/?do=retry-hubspot']],
  [{ do: 'look at what HubSpot refuses' }, ['/?do=retry-hubspot']],
] as const satisfies readonly (readonly [Remedy, readonly string[]])[])
  test(`what helps by "${remedy.do}" is at ${paths[0]}`, () => assert.deepEqual(pathsOf(remedy), paths));

test('what only whoever runs the server can do, or what is erased, is a sentence that names no command', () => {
  for (const remedy of [
    giveAllBack('erased'),
    { do: "refund in Stripe's dashboard" },
    { do: 'settle', subject: 'erased' },
    { do: 'merge or keep apart', uuid: 'join', other: 'erased' },
    { do: 'print certificate', uuid: 'erased' },
    { do: 'settle missing' },
    { do: 'reconcile' },
    { do: 'doctor' },
    { do: 'set up' },
    { do: 'migrate' },
    { do: 'look at unknown documents' },
    { do: 'look at reports' },
    { do: 'set document key' },
    { do: 'move to HubSpot account', account: '7' },
  ] satisfies Remedy[]) {
    const { offers, advice } = deskOffers(remedy, places);
    assert.deepEqual(offers, [], remedy.do);
    assert.match(advice!, /^[A-Z].*\.$/);
    assert.doesNotMatch(advice!, /npm|operator|doctor|settle|--/, remedy.do);
  }
  assert.deepEqual(deskOffers(null, places), { offers: [], advice: null });
});

test('money is given back only by who may move it', () => {
  const least = (remedy: Remedy) => deskOffers(remedy, places).offers[0]!.role;
  for (const remedy of [
    giveAllBack('join'),
    { do: 'refund payment', intentId: 'pi_1' },
    { do: 'assign refund', refund: 'r' },
    { do: 'settle', subject: 'join' },
  ] satisfies Remedy[])
    assert.equal(least(remedy), 'finance');
  assert.equal(least({ do: 'retry at HubSpot', uuid: 'join' }), 'staff');
});
