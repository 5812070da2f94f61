import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { ControllerProblemError } from './controller-problem.ts';

export const CA_FLAG = '--controller-ca';
const TOKEN_FLAG = '--token-file';

/** Who the controller is, and how a proxy proves who it is. */
export interface ControllerAccess {
  /** Its origin. Whatever address is dialled, the certificate must be for the host in it. */
  readonly url: URL;
  /** File of the authorities (PEM) that its certificate may come from. */
  readonly ca: string;
  /** File of the ServiceAccount token. */
  readonly tokenFile: string;
}

/** Reads the authorities (PEM). Rejects with a `ControllerProblemError` when there are none. */
export async function readAuthorities(file: string): Promise<string> {
  try {
    const pem = await readFile(file, 'utf8');
    // Node takes anything, and then trusts nobody.
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('holds no certificate');
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    throw new ControllerProblemError('ca-file', { flag: CA_FLAG, file }, error);
  }
}

/** Reads the ServiceAccount token. Rejects with a `ControllerProblemError` when there is none. */
export async function readToken(file: string): Promise<string> {
  try {
    const token = (await readFile(file, 'utf8')).trim();
    // RFC 6750, section 2.1.
    if (!/^[\w.~+/-]+=*$/.test(token)) throw new Error('holds no token');
    return token;
  } catch (error) {
    throw new ControllerProblemError('token-file', { flag: TOKEN_FLAG, file }, error);
  }
}
