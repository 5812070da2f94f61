import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MANIFESTS = join(import.meta.dirname, 'manifests');

/** Origins in the manifests, which are replaced by those of the running demo. */
const WRITTEN = {
  gateway: 'http://localhost:8080',
  application: 'http://localhost:8081',
  notes: 'http://localhost:8082',
  signIn: 'http://localhost:8083',
  identityProvider: 'http://localhost:9191',
  mcpServer: 'http://localhost:9292',
  notesServer: 'http://localhost:9393',
  applicationServer: 'http://localhost:9494',
} as const;

/** The origins of the running demo. */
export type DemoOrigins = Readonly<Record<keyof typeof WRITTEN, string>>;

/** The demo's configuration: a directory to look at, and to change while the demo runs. */
export interface ManifestDirectory extends AsyncDisposable {
  readonly path: string;
}

/** Copies the manifests of the demo to a new temporary directory, with the origins replaced. */
export async function writeManifests(origins: DemoOrigins): Promise<ManifestDirectory> {
  const path = await mkdtemp(join(await realpath(tmpdir()), 'gatehouse-demo-'));
  for (const name of await readdir(MANIFESTS)) {
    const text = await readFile(join(MANIFESTS, name), 'utf8');
    await writeFile(join(path, name), withOrigins(text, origins));
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Replaces all origins in one pass, so that a replacement is not replaced again. */
function withOrigins(text: string, origins: DemoOrigins): string {
  // `origins` has every key of `WRITTEN`.
  const names = Object.keys(WRITTEN) as (keyof typeof WRITTEN)[];
  const byWritten = new Map<string, string>(names.map((name) => [WRITTEN[name], origins[name]]));
  return text.replace(/http:\/\/localhost:\d+/g, (origin) => byWritten.get(origin) ?? origin);
}
