import type { FastifyInstance } from 'fastify';
import type { Fault, Faults } from './faults.ts';
import type { Ledger } from './ledger.ts';

/** The controls that every emulator has for tests, under `/_emulator/`, apart from the provider's own API. */
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

/** The JSON body of a control request; bodies are read as text, because the provider's own may be forms. */
export function bodyOf(body: unknown): Record<string, unknown> {
  return typeof body === 'string' && body !== '' ? JSON.parse(body) : {};
}
