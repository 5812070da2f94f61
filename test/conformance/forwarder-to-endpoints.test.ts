import { treatUpstreamsAsEndpoints } from '../support/front.ts';

// Every rule of the forwarder holds for the endpoints of Services too.
treatUpstreamsAsEndpoints();
await import('./forwarder.test.ts');
