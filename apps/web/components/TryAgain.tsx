import type { ComponentProps } from 'react';
import { TryAgain as Retry } from '#ui/TryAgain.tsx';

export const retryWords = {
  press: 'Try again',
  busy: 'Trying again…',
  waiting: (next: number, most: number) => `Trying again automatically (${next} of ${most})…`,
};

/** A button to try again. After a temporary failure it also tries again automatically. */
export function TryAgain(props: Omit<ComponentProps<typeof Retry>, 'words'>) {
  return <Retry words={retryWords} {...props} />;
}
