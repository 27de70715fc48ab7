import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

type Json = Record<string, unknown>;
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest();

/** A passkey in software, which behaves like one in a browser at `origin` (WebAuthn, level 2). */
export class Authenticator {
  readonly #origin: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #id = randomBytes(16);

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Returns the browser's answer to the options of a registration. */
  create({ challenge }: { challenge: string }): Json & { id: string } {
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' });
    const key = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x!, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y!, 'base64url'),
    ]);
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.#id.length]), this.#id, key]);
    const data = Buffer.concat([this.#data(0x45), credential]);
    const attestation = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
      Buffer.from([0x58, data.length]),
      data,
    ]);
    return this.#answer('webauthn.create', challenge, {
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** Returns the browser's answer to the options of a sign-in. */
  get({ challenge }: { challenge: string }): Json & { id: string } {
    const data = this.#data(0x05);
    const client = this.#client('webauthn.get', challenge);
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), this.#keys.privateKey);
    return this.#answer('webauthn.get', challenge, {
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
    });
  }

  /**
   * Flags: 1 means that the user was present, 4 that the user was verified, 64 that a credential follows. The counter stays 0, as
   * with synced passkeys.
   */
  #data(flags: number): Buffer {
    return Buffer.concat([sha256(new URL(this.#origin).hostname), Buffer.from([flags, 0, 0, 0, 0])]);
  }

  #client(type: string, challenge: string): string {
    return JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false });
  }

  #answer(type: string, challenge: string, response: Json): Json & { id: string } {
    const id = this.#id.toString('base64url');
    const clientDataJSON = Buffer.from(this.#client(type, challenge)).toString('base64url');
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, ...response },
    };
  }
}
