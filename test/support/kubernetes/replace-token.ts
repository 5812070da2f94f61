import { readFile, writeFile } from 'node:fs/promises';

import { parseDocument } from 'yaml';

/** Changes the token in a kubeconfig file. */
export async function replaceToken(kubeconfig: string, token: string): Promise<void> {
  const document = parseDocument(await readFile(kubeconfig, 'utf8'));
  document.setIn(['users', 0, 'user', 'token'], token);
  await writeFile(kubeconfig, document.toString());
}
