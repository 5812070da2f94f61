import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { ControllerProblemError } from './controller-problem.ts';

/** Flag for the file of authorities; it is logged with problems that it can solve. */
export const CA_FLAG = '--controller-ca';
const TOKEN_FLAG = '--token-file';

/** The means by which the controller and a proxy prove to each other what they are. */
export interface ControllerAccess {
  /** Origin of the controllers' Service. Certificates must be for its host, at every address. */
  readonly url: URL;
  /** File of the authorities (PEM) that its certificate may come from. */
  readonly ca: string;
  /** File of the ServiceAccount token. */
  readonly tokenFile: string;
}

/** The contents of the two files of a `ControllerAccess`. */
export interface AccessFiles {
  readonly ca: string;
  readonly token: string;
}

/** Reads both files. Rejects with a `ControllerProblemError` if one is not valid. */
export async function readAccessFiles({ ca, tokenFile }: ControllerAccess): Promise<AccessFiles> {
  const [authorities, token] = await Promise.all([readAuthorities(ca), readToken(tokenFile)]);
  return { ca: authorities, token };
}

async function readAuthorities(file: string): Promise<string> {
  try {
    const pem = await readFile(file, 'utf8');
    // Node accepts any text as authorities, and then trusts no certificate.
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('holds no certificate');
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    throw new ControllerProblemError('ca-file', { flag: CA_FLAG, file }, error);
  }
}

async function readToken(file: string): Promise<string> {
  try {
    const token = (await readFile(file, 'utf8')).trim();
    // RFC 6750, section 2.1.
    if (!/^[\w.~+/-]+=*$/.test(token)) throw new Error('holds no token');
    return token;
  } catch (error) {
    throw new ControllerProblemError('token-file', { flag: TOKEN_FLAG, file }, error);
  }
}
