import { Ajv } from 'ajv';

import {
  LONGEST_KEY_LENGTH,
  type BeginFrame,
  type CommitFrame,
  type ControllerFrame,
  type DeleteFrame,
  type GoawayFrame,
  type KeepFrame,
  type PingFrame,
  type PutFrame,
} from '../../../shared/snapshot/push-frames.ts';
import {
  constant,
  integer,
  nullable,
  objectOf,
  string,
  unknown,
  type Schema,
} from '../../../shared/snapshot/schema.ts';
import { ProtocolError } from '../connection/protocol-error.ts';

/** A `put` with a resource that is not parsed yet. */
export interface ReceivedPut extends Omit<PutFrame, 'v'> {
  readonly v: unknown;
}

/** A frame as it arrives from the controller. */
export type ReceivedFrame = Exclude<ControllerFrame, PutFrame> | ReceivedPut;

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
  }),
  put: objectOf<ReceivedPut>({ t: constant('put'), k: key, h: sha256, v: unknown }),
  keep: objectOf<KeepFrame>({ t: constant('keep'), k: key, h: sha256 }),
  del: objectOf<DeleteFrame>({ t: constant('del'), k: key }),
  commit: objectOf<CommitFrame>({ t: constant('commit'), version: sha256 }),
  ping: objectOf<PingFrame>({ t: constant('ping') }),
  goaway: objectOf<GoawayFrame>({ t: constant('goaway'), reason: string() }),
};

const isFrame = new Ajv({ discriminator: true }).compile<ReceivedFrame>({
  type: 'object',
  required: ['t'],
  discriminator: { propertyName: 't' },
  oneOf: Object.values(FRAMES).map(({ json }) => json),
});

/** Parses a line. Throws a `ProtocolError` if it is not a frame of this version of the protocol. */
export function parseControllerFrame(line: string): ReceivedFrame {
  const frame = parseJson(line);
  if (!isFrame(frame)) throw new ProtocolError('the controller sent a line that is not a frame');
  return frame;
}

/** Leaves out the parser's message, which would quote the line. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ProtocolError('the controller sent a line that is not JSON');
  }
}
