import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useRevalidator } from 'react-router';
import { Changed } from '#client/deskClient.ts';
import { ApiError, messageOf } from '#client/failures.ts';
import type { DeskActionName, DeskDone, Shown } from '#contract/deskSchemas.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { Stack } from '#ui/Text.tsx';
import type { ToastMessage } from '#ui/Toaster.tsx';
import { type Asked, doAction, tryAction } from '../lib/actions.ts';
import { showToast } from '../lib/toaster.ts';
import styles from './Dialog.module.css';
import { Dialog, DialogButtons } from './Dialog.tsx';

/** After this time (ms) without a change of the choices, the action is tried with them. */
const PAUSE_MS = 300;
const WRONG = 'Something went wrong.';
const NO_ANSWER = 'The answer did not arrive. Below is what would be done now.';

/**
 * A dialog that shows what an action would do, and does it when its button is pressed. The server provides the button's text.
 * `children` may contain choices: when `asked` changes, the trial is repeated. Afterwards the page's data are loaded again, and a
 * toast shows `done`.
 */
export function ActionDialog<Name extends DeskActionName>({
  asked,
  title,
  done,
  isMoney = false,
  children,
  toast,
  onDone,
  onClose,
  staysOpen = false,
}: {
  /** The action; null if something has to be chosen first. */
  asked: Asked<Name> | null;
  /** The title, which is a question. */
  title: string;
  done: string;
  /** Whether the action moves money. The focus is then on `Cancel`. */
  isMoney?: boolean;
  children?: ReactNode;
  /** Further properties of the toast, in addition to its title and the action's result. */
  toast?: Pick<ToastMessage, 'action' | 'shownMs'>;
  onDone?: (data: DeskDone<Name>) => void;
  /** Whether `onDone` replaces the dialog by something else, so that this component neither closes it nor shows a toast. */
  staysOpen?: boolean;
  onClose: () => void;
}) {
  const { revalidate } = useRevalidator();
  const { shown, fault, setShown, tryAgain } = useTrial(asked);
  const [isBusy, setBusy] = useState(false);
  // Why the last press of the button failed.
  const [met, setMet] = useState<string | null>(null);
  const verb = useRef<HTMLSpanElement>(null);
  const isShown = shown !== null;
  useEffect(() => {
    const isElsewhere = document.activeElement?.closest('dialog :is(input, select, textarea)');
    if (isShown && !isMoney && !isElsewhere) verb.current?.closest('button')?.focus();
  }, [isShown, isMoney]);

  const press = async ({ detail }: MouseEvent) => {
    // A double click on the button that opened the dialog also presses this button. Its second press is ignored.
    if (detail > 1 || !shown || !asked) return;
    setBusy(true);
    setMet(null);
    try {
      const data = await doAction(asked, shown);
      if (!staysOpen) void showToast({ kind: 'success', title: done, text: data.lines.join(' '), ...toast });
      onDone?.(data);
      if (!staysOpen) onClose();
      await revalidate();
    } catch (error) {
      setBusy(false);
      const isAnswer = error instanceof ApiError && error.status < 500;
      setMet(isAnswer ? messageOf(error, WRONG) : NO_ANSWER);
      if (error instanceof Changed) setShown(error.shown);
      else if (!isAnswer) tryAgain();
    }
  };
  const isRefused = fault instanceof ApiError && fault.status < 500;
  const said = fault === null ? met : messageOf(fault, WRONG);
  return (
    <Dialog wide title={title} onClose={onClose}>
      <Stack>
        {said !== null && <Alert isAnswer>{said}</Alert>}
        <div className={styles.fields}>{children}</div>
        {shown ? (
          <ul className={styles.lines} aria-live="polite">
            {shown.lines.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        ) : (
          asked &&
          fault === null && (
            <div>
              <span className="sr" role="status">
                Loading
              </span>
              <Bones count={3} />
            </div>
          )
        )}
      </Stack>
      <DialogButtons>
        <Button variant="second" slim {...(isMoney && { 'data-first': true })} onClick={onClose}>
          Cancel
        </Button>
        {shown ? (
          <Button slim busy={isBusy && 'Working…'} onClick={(event) => void press(event)}>
            <span ref={verb}>{shown.verb}</span>
          </Button>
        ) : (
          fault !== null &&
          !isRefused && (
            <Button slim onClick={tryAgain}>
              Try again
            </Button>
          )
        )}
      </DialogButtons>
    </Dialog>
  );
}

/** Tries an action, and tries it again whenever `asked` changes. */
function useTrial<Name extends DeskActionName>(asked: Asked<Name> | null) {
  const [shown, setShown] = useState<Shown | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  const latest = useRef(asked);
  latest.current = asked;
  const isFirst = useRef(true);
  const key = JSON.stringify(asked);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is asked for has another key
  useEffect(() => {
    const { current: wanted } = latest;
    if (!wanted) return;
    const ended = new AbortController();
    const wait = setTimeout(
      () =>
        tryAction(wanted, ended.signal).then(
          (now) => ended.signal.aborted || setShown(now),
          (error: unknown) => ended.signal.aborted || setFault(error),
        ),
      isFirst.current ? 0 : PAUSE_MS,
    );
    isFirst.current = false;
    return () => {
      clearTimeout(wait);
      ended.abort();
      setShown(null);
      setFault(null);
    };
  }, [key, tries]);
  return { shown, fault, setShown, tryAgain: () => setTries(tries + 1) };
}
