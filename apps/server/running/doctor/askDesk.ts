import type { Answer } from '../../providers/answer.ts';

const TIMEOUT_MS = 5_000;

/** Requests the signed-in user at the desk's address. Nobody is signed in, and only a desk answers this in the expected form. */
export async function askDesk(deskUrl: string): Promise<Answer<null>> {
  try {
    const response = await fetch(`${deskUrl}/api/desk/me`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = (await response.json().catch(() => null)) as { code?: string } | null;
    if (response.status === 401 && answer?.code === 'signed_out') return { said: null };
    return { refused: { status: response.status, message: `it answers ${response.status}` } };
  } catch (error) {
    const { cause, message } = error as Error;
    return { down: cause instanceof Error && cause.message ? cause.message : message };
  }
}
