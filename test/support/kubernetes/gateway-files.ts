import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createThrowawayAuthority } from '../throwaway-authority.ts';

/** Files for controllers and proxies. Disposing of them deletes the directory. */
export interface GatewayFiles extends AsyncDisposable {
  readonly directory: string;
  /** Directory of the controllers' certificate, for `localhost`. */
  readonly tlsDirectory: string;
  /** The authority of that certificate in PEM, and its file. */
  readonly ca: string;
  readonly caFile: string;
  readonly sealingKeysDirectory: string;
}

/** Writes the files to a temporary directory. */
export async function writeGatewayFiles(): Promise<GatewayFiles> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-cluster-'));
  const authority = createThrowawayAuthority();
  const files = {
    directory,
    tlsDirectory: join(directory, 'tls'),
    ca: authority.ca,
    caFile: join(directory, 'ca.crt'),
    sealingKeysDirectory: join(directory, 'sealing-keys'),
  };
  const { cert, key } = authority.issue(['localhost']);
  await mkdir(files.tlsDirectory);
  await mkdir(files.sealingKeysDirectory);
  await writeFile(join(files.tlsDirectory, 'tls.crt'), cert);
  await writeFile(join(files.tlsDirectory, 'tls.key'), key);
  await writeFile(files.caFile, authority.ca);
  await writeFile(join(files.sealingKeysDirectory, '2026'), randomBytes(32));
  return { ...files, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}
