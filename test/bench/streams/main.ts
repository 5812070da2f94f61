/**
 * What streams cost: 2,000 open event streams, and large bodies in both directions, through the gateway and
 * through nginx, which forwards the same and checks nothing.
 *
 * Both are measured in interleaved rounds of one run; only the ratios of their CPU mean something.
 */
import { endInTime } from '../support/end-in-time.ts';
import { LOAD_CORE, moveToCore } from '../support/pinned.ts';
import { measureBodies } from './measure-bodies.ts';
import { measureStreams } from './measure-streams.ts';
import { StreamsWorld } from './streams-world.ts';

const MAX_MINUTES = 5;

moveToCore(LOAD_CORE);
await using world = await StreamsWorld.open();
endInTime(world, MAX_MINUTES);
await measureStreams(world);
await measureBodies(world);
