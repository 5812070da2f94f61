import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** Errors with the reason as their first argument, and the subclasses that pass it on. */
const WITH_REASON =
  /(?:new (?:Forbidden|BadRequest|AuthorizationPage|SignInFailed|Unavailable|SeveralCredentials|Connection(?:Page|Failed))Error|super|refusal)\(\s*'([a-z]+(?:-[a-z]+)*)'/g;
const MEMBER_OF_UNION = /^ {2}\| '([a-z-]+)'/gm;
const FIXED_REASON = /override readonly reason = '([\w-]+)'/g;
const OAUTH_CODE = /override readonly code = '(\w+)'/g;

/** The code of the proxy, as one text. */
const PROXY_CODE = readFiles('proxy/**/*.ts');

/** Reasons for which the proxy refuses requests or fails, by where they are written. */
export interface RefusalReasons {
  readonly written: readonly string[];
  /** Codes of OAuth, in the spelling of reasons. */
  readonly oauth: readonly string[];
  readonly ofTokens: readonly string[];
  readonly ofUpstreams: readonly string[];
  readonly ofConnections: readonly string[];
}

/** Reads the reasons in the code. */
export function refusalReasons(): RefusalReasons {
  return {
    written: [...wordsIn(PROXY_CODE, WITH_REASON), ...wordsIn(PROXY_CODE, FIXED_REASON)],
    oauth: wordsIn(PROXY_CODE, OAUTH_CODE).map((code) => code.replaceAll('_', '-')),
    ofTokens: membersIn('proxy/token-verification/token-refused-error.ts'),
    ofUpstreams: membersIn('proxy/errors/upstream-auth-error.ts').filter((reason) =>
      reason.startsWith('upstream-auth-'),
    ),
    ofConnections: membersIn('proxy/upstream-oauth/protocol/token-request-error.ts'),
  };
}

/** The codes in the first column of all tables of a document that have a column of codes. */
export function reasonColumn(text: string): readonly string[] {
  return [...text.matchAll(/^\| (`[a-z][^|]*)\|/gm)].flatMap(([, cell = '']) =>
    wordsIn(cell, /`([a-z-]+)`/g).filter((word) => word !== 'reason' && word !== 'message'),
  );
}

/** Returns whether the code has a word, in the spelling of reasons or of OAuth. */
export function isKnownReason(reason: string): boolean {
  return KNOWN.has(reason) || KNOWN.has(reason.replaceAll('-', '_'));
}

const KNOWN = new Set(wordsIn(PROXY_CODE, /'([a-z]+(?:[-_][a-z]+)*)'/g));

/** Reads files of the checkout as one text. */
export function readFiles(pattern: string): string {
  const files = globSync(pattern, { cwd: ROOT });
  return files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
}

function membersIn(file: string): readonly string[] {
  return wordsIn(readFiles(file), MEMBER_OF_UNION);
}

function wordsIn(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, word = '']) => word);
}
