import type { CallName, calls } from '#contract/calls.ts';
import { screens } from '#core/navigation.ts';

type Asked<Path> = Path extends `/api/public/join-session/{uuid}/${infer End}` ? End : never;

/** What each screen asks for first. By the path's end, since the table of all calls is not among the first load's scripts. */
const firstCalls: Record<string, Asked<(typeof calls)[CallName]['path']>> = {
  [screens.studentDetails]: 'hubspot-contact',
  [screens.membership]: 'membership-details',
  [screens.checkout]: 'checkout-details',
  [screens.upgrade]: 'upgrade-details',
  [screens.uploadTranscript]: 'documents',
  [screens.congratulations]: 'welcome',
};

let asked: { url: string; answer: Promise<Response> } | null = null;

/** Asks what the screen where a visit begins will ask for, while its code is still on its way. */
export function askEarly(apiUrl: string, screen: string, uuid: string | null): void {
  const end = firstCalls[screen];
  if (!end || !uuid) return;
  const url = `${apiUrl}/api/public/join-session/${uuid}/${end}`;
  const answer = fetch(url, { credentials: 'include' });
  // A failure is met by the call that takes the answer.
  answer.catch(() => {});
  asked = { url, answer };
}

/** The answer, for the first call alone: it is that one's, or nobody's. */
export function takeEarly(url: string): Promise<Response> | null {
  const answer = asked?.url === url ? asked.answer : null;
  asked = null;
  return answer;
}
