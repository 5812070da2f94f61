import { SecretScanner, type Finding } from './secret-scanner.ts';
import type { Secret } from './secret.ts';
import type { SuiteRecord } from './suite-record.ts';

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

/** Searches the final contents of a Redis. */
export function searchKeys(record: SuiteRecord, secrets: readonly Secret[]): Promise<Search> {
  const scanner = new SecretScanner(secrets, REDIS_PATTERNS);
  return search(scanner, record.keys(), ({ key, values }) => ({
    place: key,
    texts: [key, ...values],
  }));
}

/** Searches every command that a Redis ran. */
export function searchCommands(record: SuiteRecord, secrets: readonly Secret[]): Promise<Search> {
  const scanner = new SecretScanner(secrets, REDIS_PATTERNS);
  return search(scanner, record.commands(), (command) => ({
    place: command[0] ?? '',
    texts: command,
  }));
}

/** Searches the logs of the gateways. */
export function searchLogs(record: SuiteRecord, secrets: readonly Secret[]): Promise<Search> {
  const scanner = new SecretScanner(secrets.filter(({ isLoggable }) => isLoggable !== true));
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

async function search<Item>(
  scanner: SecretScanner,
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
