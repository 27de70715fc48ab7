import { useCallback, useState } from 'react';
import { Radios } from '#ui/Radios.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { call } from '../lib/call.ts';
import { useLoaded } from '../lib/useLoaded.ts';
import { ActionDialog } from './ActionDialog.tsx';
import { PartFailed } from './Failed.tsx';

const NOTHING = 'nothing';

/** A dialog in which staff assign a refund made outside Induct to what it was for. */
export function AssignRefund({ refund, onClose }: { refund: string; onClose: () => void }) {
  const params = { id: refund };
  const { data, error, tryAgain } = useLoaded(
    useCallback((signal) => call('getAssignments', { params: { id: refund }, signal }), [refund]),
  );
  const [chosen, setChosen] = useState<string | null>(null);
  const choices = data?.choices ?? [];
  const choice = choices[Number(chosen)];
  return (
    <ActionDialog
      isMoney
      asked={
        chosen === null
          ? null
          : {
              name: 'assignRefund',
              params,
              body: {
                for: choice
                  ? { membership: choice.membership, upgrade: choice.upgrade, items: choice.items }
                  : null,
              },
            }
      }
      title="What was it for?"
      done="The refund is assigned."
      onClose={onClose}
    >
      {error ? (
        <PartFailed error={error} isTrying={false} onTry={tryAgain} />
      ) : data ? (
        <>
          {chosen === null && <p>{data.what}</p>}
          <Radios
            name="for"
            legend="It was for"
            value={chosen}
            onChange={setChosen}
            options={[
              ...choices.map(({ names }, index) => ({ value: String(index), label: names })),
              { value: NOTHING, label: 'Nothing that was bought: everybody keeps what they have' },
            ]}
          />
        </>
      ) : (
        <Bones count={4} />
      )}
    </ActionDialog>
  );
}
