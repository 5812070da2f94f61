import {
  LONGEST_KEY_LENGTH,
  type BeginFrame,
  type CommitFrame,
  type DeleteFrame,
  type GoawayFrame,
  type KeepFrame,
  type PingFrame,
} from '../../../../shared/snapshot/push-frames.ts';
import {
  constant,
  integer,
  nullable,
  objectOf,
  optional,
  string,
  unknown,
  type Schema,
} from '../../../../shared/snapshot/schemas/schema.ts';
import type { ReceivedFrame, ReceivedPut } from '../received-frame.ts';

/** Positions have up to fifteen digits. */
const POSITION_MAX = 999_999_999_999_999;
const positionNumber = integer(0, POSITION_MAX);
const sha256 = string('^[0-9a-f]{64}$');
const key = string(`^[^\\s]{1,${String(LONGEST_KEY_LENGTH)}}$`);

const FRAMES: {
  readonly [Type in ReceivedFrame['t']]: Schema<Extract<ReceivedFrame, { readonly t: Type }>>;
} = {
  begin: objectOf<BeginFrame>({
    t: constant('begin'),
    epoch: positionNumber,
    seq: positionNumber,
    base: nullable(sha256),
    count: integer(0, Number.MAX_SAFE_INTEGER),
    trace: optional(string('^[0-9a-f]{2}(-[0-9a-f]{2,32}){3}$')),
  }),
  put: objectOf<ReceivedPut>({ t: constant('put'), k: key, h: sha256, v: unknown }),
  keep: objectOf<KeepFrame>({ t: constant('keep'), k: key, h: sha256 }),
  del: objectOf<DeleteFrame>({ t: constant('del'), k: key }),
  commit: objectOf<CommitFrame>({ t: constant('commit'), version: sha256 }),
  ping: objectOf<PingFrame>({ t: constant('ping') }),
  goaway: objectOf<GoawayFrame>({ t: constant('goaway'), reason: string() }),
};

/** The schema of all frames of a controller. */
export const frameSchema: Schema<ReceivedFrame> = {
  json: {
    type: 'object',
    required: ['t'],
    discriminator: { propertyName: 't' },
    oneOf: Object.values(FRAMES).map(({ json }) => json),
  },
};
