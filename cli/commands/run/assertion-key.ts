import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { errorCode } from '../../../shared/process/error-code.ts';
import type { CompiledSigningKeys } from '../../../shared/snapshot/snapshot.ts';
import { CommandFailure } from '../../command-failure.ts';
import { writePrivateFile } from './write-private-file.ts';

const FILE_NAME = 'assertion-key.pem';

/** The key that signs assertions where the settings name none, kept in a state directory. */
export async function keepAssertionKey(stateDirectory: string): Promise<CompiledSigningKeys> {
  const path = join(stateDirectory, FILE_NAME);
  const kept = await readIfPresent(path);
  if (kept !== undefined) return signingKeys(readKey(path, kept));
  const made = makePrivateKey();
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  await writePrivateFile(path, made);
  return signingKeys(made);
}

/** A key that signs assertions until the process ends. */
export function makeAssertionKey(): CompiledSigningKeys {
  return signingKeys(makePrivateKey());
}

function makePrivateKey(): string {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;
}

/** The text again as PKCS #8; throws when it is no P-256 key, without showing it. */
function readKey(path: string, pem: string): string {
  let key;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw new CommandFailure(`${path} is not a private key`, { cause: error });
  }
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new CommandFailure(`${path} is not an EC P-256 key`);
  }
  return key.export({ type: 'pkcs8', format: 'pem' });
}

function signingKeys(privateKey: string): CompiledSigningKeys {
  return {
    kind: 'signing-keys',
    keys: [{ keyId: thumbprint(privateKey), algorithm: 'ES256', privateKey }],
  };
}

/** RFC 7638, section 3.2: the members that an EC key must have, in lexicographic order. */
function thumbprint(privateKey: string): string {
  const { crv, kty, x, y } = createPublicKey(privateKey).export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
