import { globSync } from 'node:fs';

import { treatUpstreamsAsEndpoints } from '../support/front.ts';

// Runs all suites of the forwarder again, with targets of a Service.
treatUpstreamsAsEndpoints();
for (const file of globSync('forwarder/*.test.ts', { cwd: import.meta.dirname }).sort()) {
  await import(`./${file}`);
}
