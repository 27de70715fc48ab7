import type { FastifyInstance } from 'fastify';
import type { Fault, Faults } from './faults.ts';
import type { Ledger } from './ledger.ts';

/**
 * Adds the calls by which tests control an emulator of an API. Their paths begin with `/_emulator/`, which no provider's API
 * uses.
 */
export function addControls(app: FastifyInstance, faults: Faults, ledger: Ledger): void {
  app.get('/_emulator/requests', () => ledger.entries());
  app.delete('/_emulator/requests', (_, reply) => {
    ledger.clear();
    return reply.code(204).send();
  });

  app.get('/_emulator/faults', () => faults.list());
  app.post('/_emulator/faults', (request, reply) => {
    const wrong = faults.add(bodyOf(request.body) as unknown as Fault);
    return wrong ? reply.code(400).send({ message: wrong }) : reply.code(204).send();
  });
  app.delete('/_emulator/faults', (_, reply) => {
    faults.clear();
    return reply.code(204).send();
  });
}

/**
 * Returns the JSON body of a test's control call. The servers read every body as text, since a body of the provider's API may be
 * a form.
 */
export function bodyOf(body: unknown): Record<string, unknown> {
  return typeof body === 'string' && body !== '' ? JSON.parse(body) : {};
}
