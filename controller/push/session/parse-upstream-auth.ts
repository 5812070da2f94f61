import { isRecord } from '../../../shared/runtime/is-record.ts';
import {
  LONGEST_KEY_LENGTH,
  LONGEST_UPSTREAM_AUTH_MESSAGE,
  MAX_UPSTREAM_AUTH_REPORTS,
  type UpstreamAuthReport,
} from '../../../shared/snapshot/push-frames.ts';

const REASON = /^[a-z][a-z-]{0,63}$/;
/** Terminals act on these, and servers that nobody here wrote can have caused the message. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/** Parses the reports of a status frame; undefined if they are not of the protocol. */
export function parseUpstreamAuth(value: unknown): readonly UpstreamAuthReport[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_UPSTREAM_AUTH_REPORTS) return undefined;
  const reports = value.flatMap((entry: unknown) => parseReport(entry) ?? []);
  return reports.length === value.length ? reports : undefined;
}

function parseReport(value: unknown): UpstreamAuthReport | undefined {
  if (!isRecord(value)) return undefined;
  const { route, ageMs, failure } = value;
  if (typeof route !== 'string' || route.length > LONGEST_KEY_LENGTH) return undefined;
  if (typeof ageMs !== 'number' || ageMs < 0) return undefined;
  if (failure === undefined) return { route, ageMs };
  if (!isRecord(failure)) return undefined;
  const { reason, message } = failure;
  if (typeof reason !== 'string' || !REASON.test(reason)) return undefined;
  if (typeof message !== 'string') return undefined;
  const text = message.slice(0, LONGEST_UPSTREAM_AUTH_MESSAGE).replaceAll(CONTROL_CHARACTERS, ' ');
  return { route, ageMs, failure: { reason, message: text.toWellFormed() } };
}
