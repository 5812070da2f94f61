import { globSync } from 'node:fs';

import { listenBy } from '../support/front.ts';
import { createTranslatedListener } from '../support/http2/translated-listener.ts';

// Runs the suites of the forwarder again, with clients whose requests arrive by HTTP/2.
listenBy(createTranslatedListener);
const files = globSync('forwarder/*.test.ts', { cwd: import.meta.dirname });
// WebSockets use HTTP/1.1.
for (const file of files.filter((name) => !name.includes('websocket')).sort()) {
  await import(`./${file}`);
}
