import { GATEWAY_TOKEN_PREFIXES } from '../../runtime/gateway-token-prefixes.ts';

/**
 * Longer messages are cut before they are searched. Attack: strangers choose parts of messages, such as the name of
 * a host, so no expression may try each beginning of a long word.
 */
const MAX_SEARCHED = 2_048;

const USER_INFO = /\/\/[^\s/?#@"']{1,256}@/g;
const QUERY = /[?#][\w.~%+[\]-]{1,256}=[^\s"'<>]*/g;
const END_OF_URL = /[?#](?<=[a-z]:\/\/[^\s?#"'<>]{0,1024}.)[^\s"'<>]*/gi;
const WORD = /[^\s<>"'()]+/g;
const ADDRESS = /[^@](?:@|%40)[^@]/;
/** Those of the gateway, and JSON Web Tokens. */
const TOKEN_STARTS = ['eyJ', ...Object.values(GATEWAY_TOKEN_PREFIXES)];
const KNOWN_TOKEN = new RegExp(String.raw`\b(?:${TOKEN_STARTS.join('|')})[\w.-]+`, 'g');
const LONG_WORD = /[\w-]{24,}/g;

/**
 * Removes queries of URLs, e-mail addresses and what looks like a token.
 *
 * Messages hold none by the project's rules; this is for those of libraries and other servers.
 */
export function cleanText(text: string): string {
  return text
    .slice(0, MAX_SEARCHED)
    .replace(USER_INFO, '//')
    .replace(QUERY, '')
    .replace(END_OF_URL, '')
    .replace(WORD, (word) => (ADDRESS.test(word) ? '[address]' : word))
    .replace(KNOWN_TOKEN, '[token]')
    .replace(LONG_WORD, (word) => (isRandom(word) ? '[token]' : word));
}

/** Tokens, codes and keys mix cases and digits; ids of requests and names of hosts do not. */
function isRandom(word: string): boolean {
  return /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word);
}
