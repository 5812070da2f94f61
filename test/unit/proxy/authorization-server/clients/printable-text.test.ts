import { expect } from '@jest/globals';

import { printableText } from '../../../../../proxy/authorization-server/clients/printable-text.ts';
import { verifies } from '../../../../requirements/verifies.ts';

const TEXTS: readonly (readonly [string, string])[] = [
  ['Claude Code (files)', 'Claude Code (files)'],
  ['クライアント', 'クライアント'],
  ['Ünïcode 🚀', 'Ünïcode 🚀'],
  ['  many \t\r\n spaces\u2028and lines ', 'many spaces and lines'],
  ['nul\u0000 and bell\u0007', 'nul and bell'],
  ['\u202eelgooG\u202c', 'elgooG'],
  ['a\u2066b\u2069c\u200e\u200f', 'abc'],
  ['zero\u200bwidth\ufeff', 'zerowidth'],
  ['lone \ud800 surrogate', 'lone  surrogate'],
  ['private \ue000 use', 'private  use'],
  ['\u001b[31mred', '[31mred'],
  ['\u200b', ''],
  // Letters and a Braille pattern that look like nothing.
  ['\u3164\u115f\u1160\uffa0\u2800', ''],
  ['Zalgo\u0323\u0324\u0325\u0326\u0327\u0328 app', 'Zalgo\u0323\u0324\u0325\u0326 app'],
  ['marks\u0323\u0324\u200b\u0325\u0326\u0327', 'marks\u0323\u0324\u0325\u0326'],
  ['क्षि และ ที่นี่ ệ', 'क्षि และ ที่นี่ ệ'],
];

for (const [text, expected] of TEXTS) {
  verifies('as.client-text-untrusted', `makes ${JSON.stringify(text)} safe for a page`, () => {
    expect(printableText(text)).toBe(expected);
  });
}
