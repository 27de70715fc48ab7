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

/** How long typing may pause (ms) before what is typed is tried. */
const PAUSE_MS = 300;
const WRONG = 'Something went wrong.';
const NO_ANSWER = 'The answer did not arrive. Below is what would be done now.';

/**
 * Shows what an action would do, and does it at the press of its button, whose words the server says. Choices may be made in
 * `children`: when `asked` changes, the action is tried anew. Afterwards the page loads anew, with a toast that says `done`.
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
  /** Null: something is to be chosen first. */
  asked: Asked<Name> | null;
  /** The question. */
  title: string;
  done: string;
  /** Whether money moves. `Cancel` has the focus then. */
  isMoney?: boolean;
  children?: ReactNode;
  /** More of the toast than its title and what became of the action. */
  toast?: Pick<ToastMessage, 'action' | 'shownMs'>;
  onDone?: (data: DeskDone<Name>) => void;
  /** Whether something else takes the dialog's place once it is done, in `onDone`. */
  staysOpen?: boolean;
  onClose: () => void;
}) {
  const { revalidate } = useRevalidator();
  const { shown, fault, setShown, tryAgain } = useTrial(asked);
  const [isBusy, setBusy] = useState(false);
  // What the last press has met.
  const [met, setMet] = useState<string | null>(null);
  const verb = useRef<HTMLSpanElement>(null);
  const isShown = shown !== null;
  useEffect(() => {
    const isElsewhere = document.activeElement?.closest('dialog :is(input, select, textarea)');
    if (isShown && !isMoney && !isElsewhere) verb.current?.closest('button')?.focus();
  }, [isShown, isMoney]);

  const press = async ({ detail }: MouseEvent) => {
    // The second press of a double click on the button that opened the dialog.
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

/** Tries an action, and again when it changes. */
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
