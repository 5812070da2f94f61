import { SecretScanner, type Finding } from './secret-scanner.ts';
import { CLIENT_ADDRESS, type Secret } from './secret.ts';
import type { RecordedSpan, SuiteRecord } from './suite-record.ts';

/** What was searched, and what was found there. */
export interface Search {
  /** Number of keys, commands or lines. */
  readonly looked: number;
  /** Number of secrets that were searched for. */
  readonly secrets: number;
  readonly findings: readonly FoundAt[];
}

interface FoundAt extends Finding {
  /** The key, the command, or the message of the line. */
  readonly place: string;
}

/** Redis must not contain client addresses. */
const REDIS_PATTERNS = { 'a loopback address': /(?<![\w.])127\.\d+\.\d+\.\d+|(?<![\w:])::1\b/g };

/** Members that hold the user's data, in the logs in which the operator lists them. */
const USER_MEMBERS = ['email', 'user'];
const LOGS_OF_USERS: readonly unknown[] = ['authorize', 'audit'];

/** Without what only telemetry must not have: states and logs name clients, resources and servers. */
function withoutQueries(secrets: readonly Secret[]): readonly Secret[] {
  return secrets.filter(({ isQuery }) => isQuery !== true);
}

/** Searches the final contents of a Redis. */
export function searchKeys(record: SuiteRecord, secrets: readonly Secret[]): Promise<Search> {
  const scanner = new SecretScanner(withoutQueries(secrets), REDIS_PATTERNS);
  return search(scanner, record.keys(), ({ key, values }) => ({
    place: key,
    texts: [key, ...values],
  }));
}

/** Searches every command that a Redis ran. */
export function searchCommands(record: SuiteRecord, secrets: readonly Secret[]): Promise<Search> {
  const scanner = new SecretScanner(withoutQueries(secrets), REDIS_PATTERNS);
  return search(scanner, record.commands(), (command) => ({
    place: command[0] ?? '',
    texts: command,
  }));
}

/** Searches the logs of the gateways. */
export function searchLogs(record: SuiteRecord, secrets: readonly Secret[]): Promise<Search> {
  const unloggable = secrets.filter(({ isLoggable }) => isLoggable !== true);
  const scanner = new SecretScanner(withoutQueries(unloggable));
  return search(scanner, record.logs(), (line) => {
    // The log is JSON lines.
    const members = Object.entries(JSON.parse(line) as Record<string, unknown>);
    const byName = new Map(members);
    const message = String(byName.get('message'));
    const isOfUser = LOGS_OF_USERS.includes(byName.get('service'));
    const others = members.filter(([name]) => !isOfUser || !USER_MEMBERS.includes(name));
    return { place: message, texts: [JSON.stringify(Object.fromEntries(others))] };
  });
}

/** Messages of errors name servers that could not be reached. */
const EXCEPTION = 'exception.message';

/** Attributes with addresses of servers, which tests have on this machine too. */
const ADDRESSES = /^(?:network\.peer\.address|server\.address|url\.full|exception\.\w+)(?:=|$)/;

/** Searches the spans of the gateways, which may have nothing of their users and clients. */
export function searchSpans(record: SuiteRecord, secrets: readonly Secret[]): Promise<Search> {
  const isAddress = ({ kind }: Secret): boolean => kind === CLIENT_ADDRESS;
  const scanner = new SecretScanner(secrets.filter((secret) => !isAddress(secret)));
  const ofClients = new SecretScanner(secrets.filter(isAddress), REDIS_PATTERNS);
  return search(
    {
      size: scanner.size + ofClients.size,
      scan: (text) => [...scanner.scan(text), ...ofClients.scan(withoutServers(text))],
    },
    record.spans(),
    (span) => ({ place: span.name, texts: linesOfSpan(span) }),
  );
}

/** The values of a span, each with its name, unless that is one of the gateway's own. */
function linesOfSpan({ name, attributes, error = '' }: RecordedSpan): readonly string[] {
  const values = Object.entries(attributes).map(([attribute, value]) => {
    const shown = ADDRESSES.test(attribute) ? `${attribute}=` : '';
    return shown + JSON.stringify(value);
  });
  return [name, ...values, `${EXCEPTION}=${error}`];
}

/** Returns what `linesOfSpan` gives without the values that name servers. */
function withoutServers(text: string): string {
  return text
    .split('\n')
    .filter((line) => !ADDRESSES.test(line))
    .join('\n');
}

/** Searches the labels of the metrics of the gateways. */
export function searchMetrics(record: SuiteRecord, secrets: readonly Secret[]): Promise<Search> {
  const scanner = new SecretScanner(secrets, REDIS_PATTERNS);
  return search(scanner, record.metrics(), (line) => ({
    place: /^\w*/.exec(line)?.[0] ?? '',
    texts: [...line.matchAll(LABEL_VALUE)].map(([, value = '']) => value),
  }));
}

/** Names of metrics have the name of the product, which is an id of a client too. */
const LABEL_VALUE = /="((?:[^"\\]|\\.)*)"/g;

async function search<Item>(
  scanner: Pick<SecretScanner, 'scan' | 'size'>,
  items: AsyncIterable<Item>,
  read: (item: Item) => { readonly place: string; readonly texts: readonly string[] },
): Promise<Search> {
  const findings: FoundAt[] = [];
  let looked = 0;
  for await (const item of items) {
    looked += 1;
    const { place, texts } = read(item);
    for (const finding of scanner.scan(texts.join('\n'))) findings.push({ place, ...finding });
  }
  return { looked, secrets: scanner.size, findings };
}
