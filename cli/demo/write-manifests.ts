import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MANIFESTS = join(import.meta.dirname, 'manifests');

/** Origins as the manifests have them; each stands for the one that the demo really has. */
const WRITTEN = {
  gateway: 'http://localhost:8080',
  identityProvider: 'http://localhost:9191',
  mcpServer: 'http://localhost:9292',
} as const;

export type DemoOrigins = Readonly<Record<keyof typeof WRITTEN, string>>;

/** The demo's configuration: a directory to look at, and to change while the demo runs. */
export interface ManifestDirectory extends AsyncDisposable {
  readonly path: string;
}

/** Copies the demo's manifests, with its real addresses in them, to a new temporary directory. */
export async function writeManifests(origins: DemoOrigins): Promise<ManifestDirectory> {
  const path = await mkdtemp(join(await realpath(tmpdir()), 'gatehouse-demo-'));
  for (const name of await readdir(MANIFESTS)) {
    const text = await readFile(join(MANIFESTS, name), 'utf8');
    await writeFile(join(path, name), withOrigins(text, origins));
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** In one pass: an origin that was put in must not be taken for one that was written. */
function withOrigins(text: string, origins: DemoOrigins): string {
  const byWritten = new Map<string, string>([
    [WRITTEN.gateway, origins.gateway],
    [WRITTEN.identityProvider, origins.identityProvider],
    [WRITTEN.mcpServer, origins.mcpServer],
  ]);
  return text.replace(/http:\/\/localhost:\d+/g, (origin) => byWritten.get(origin) ?? origin);
}
