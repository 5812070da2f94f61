import { styleText } from 'node:util';

import { isRecord } from '../../shared/runtime/is-record.ts';
import type { LineSink } from '../../shared/telemetry/line-writer.ts';

type LogRecord = Readonly<Record<string, unknown>>;

/**
 * Shows a JSON log to a person: one short line per decision, the events that lead to one, warnings
 * and errors. It leaves out everything else, and passes on lines that are not JSON.
 */
export class LogView implements LineSink {
  readonly #sink: LineSink;
  #rest = '';

  constructor(sink: LineSink) {
    this.#sink = sink;
  }

  write(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    const shown = lines.map(showLine).filter((line) => line !== undefined);
    if (shown.length > 0) this.#sink.write(`${shown.join('\n')}\n`);
  }
}

/** Returns the text to show for a line of the log; undefined if it is left out. */
function showLine(line: string): string | undefined {
  const record = parseRecord(line);
  if (record === undefined) return line;
  if (record['message'] === 'authorize check') return showDecision(record);
  if (record['level'] === 'warn' || record['level'] === 'error') return showTrouble(record);
  return showEvent(record);
}

function parseRecord(line: string): LogRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function showDecision(record: LogRecord): string {
  const isAllowed = record['allow'] === true && record['deny'] !== true;
  const verdict = isAllowed ? styleText('green', 'allowed') : styleText('red', 'denied ');
  const who = text(record['email']) || text(record['user']) || 'nobody';
  const what = [text(record['mcp-method']), text(record['mcp-tool'])].join(' ').trim();
  const why = record['allow'] === true ? record['deny-why-true'] : record['allow-why-false'];
  const reasons =
    isAllowed || !Array.isArray(why) ? '' : styleText('red', why.map(text).join(', '));
  const parameters = record['mcp-tool-parameters'];
  const details = parameters === undefined ? '' : styleText('dim', JSON.stringify(parameters));
  return columns(clock(record), verdict, who.padEnd(18), what, details, reasons);
}

/** Events that explain the next decision, each with its most useful field. */
const EVENTS: ReadonlyMap<string, string> = new Map([
  ['client registered', 'client-name'],
  ['user signed in', 'user'],
  ['connection made', 'resource'],
  ['connection ended', 'resource'],
  ['configuration applied', ''],
]);

function showEvent(record: LogRecord): string | undefined {
  const message = text(record['message']);
  const field = EVENTS.get(message);
  if (field === undefined) return undefined;
  return columns(clock(record), styleText('cyan', message), text(record[field]));
}

/** Fields that every record has. */
const COMMON_FIELDS: readonly string[] = ['level', 'service', 'time', 'message'];

function showTrouble(record: LogRecord): string {
  const details = Object.entries(record)
    .filter(([name]) => !COMMON_FIELDS.includes(name))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const level = record['level'];
  const message = record['message'];
  const color = level === 'error' ? 'red' : 'yellow';
  const title = styleText(color, `${text(level)}: ${text(message)}`);
  return columns(clock(record), title, styleText('dim', details.join(' ')));
}

function columns(...texts: readonly string[]): string {
  return texts.filter((each) => each !== '').join('  ');
}

function clock({ time }: LogRecord): string {
  const date = new Date(text(time));
  if (Number.isNaN(date.getTime())) return '';
  return styleText('dim', date.toLocaleTimeString('en-GB'));
}

/** Removes control characters: the name of a tool, which a client chose, could control the terminal. */
function text(value: unknown): string {
  return typeof value === 'string' ? value.replace(/\p{Cc}/gu, '') : '';
}
