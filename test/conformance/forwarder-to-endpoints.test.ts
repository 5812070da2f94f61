import { globSync } from 'node:fs';

import { treatUpstreamsAsEndpoints } from '../support/front.ts';

// Every rule of the forwarder holds for the targets of Services too.
treatUpstreamsAsEndpoints();
for (const file of globSync('forwarder/*.test.ts', { cwd: import.meta.dirname }).sort()) {
  await import(`./${file}`);
}
