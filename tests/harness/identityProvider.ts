import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** A real identity provider (OpenID Connect) on this machine. It signs in every browser as `subject`, without asking. */
export interface IdentityProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Sets the account that signs in from now on. */
  signsIn(subject: string): void;
  close(): Promise<void>;
}

/** Starts an identity provider that knows one client. Browsers are redirected back to `redirectUri`. */
export async function startIdentityProvider(redirectUri: string): Promise<IdentityProvider> {
  let subject = 'somebody';
  const client = { clientId: 'desk', clientSecret: 'a secret of the client' };
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      { client_id: client.clientId, client_secret: client.clientSecret, redirect_uris: [redirectUri] },
    ],
    cookies: { keys: ['of a test'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    // Grants everything, so that no user is asked for consent.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client!.clientId,
        accountId: oidc.session!.accountId!,
      });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url!.startsWith('/interaction/')) return void answer(request, response);
    void provider.interactionFinished(request, response, { login: { accountId: subject } });
  });
  return {
    issuer,
    ...client,
    signsIn(other) {
      subject = other;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
