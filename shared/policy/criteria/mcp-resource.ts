import { loosePath } from '../../paths/loose-path.ts';
import type { StringMatcher } from '../language/criterion-definition.ts';
import { matcherCriterion } from '../operands/matcher-criterion.ts';
import { rememberSeveral } from '../operands/remember-several.ts';

/** A message is about so many resources at most. Attack: a thousand criteria may read all of them. */
const MAX_RESOURCES = 64;

/**
 * Returns a URI as a lenient server reads it. Official SDKs look resources up by the result of the
 * WHATWG parser.
 *
 * Attack: `file:///public/../secret`, `FILE:///secret` or `file:///%73ecret` past a policy about
 * `file:///secret`.
 */
const looseUri = rememberSeveral((uri) => loosePath(URL.parse(uri)?.href ?? uri), MAX_RESOURCES);

/**
 * Returns a URI as a server reads it that looks at nothing but scheme, host and path.
 *
 * Attack: `file:///secret?a`, `file:///secret#a` or `db://a@secret/` past a policy about `file:///secret` or
 * `db://secret/`.
 */
const bareUri = rememberSeveral((uri) => {
  const url = URL.parse(uri);
  if (url === null) return loosePath(uri);
  url.username = url.password = url.search = url.hash = '';
  return loosePath(url.href);
}, MAX_RESOURCES);

/** Returns whether a policy tells URIs apart by their queries or fragments. */
function namesQuery(matcher: StringMatcher): boolean {
  return Object.values(matcher)
    .flat()
    .some((operand: string) => /[?#&=]/.test(operand));
}

/** The resources that a message reads, subscribes to, or completes the URI of. */
export const mcpResource = matcherCriterion(
  {
    name: 'mcp_resource',
    reasons: { whenTrue: 'mcp-resource-ok', whenFalse: 'mcp-resource-unauthorized' },
    reads: ['message', 'resources'],
    onlyOn: 'mcp',
    row: {
      looksAt: '`uri` of a [`resources/read`](#resources-and-prompts)',
      compares: 'a text, exactly',
    },
  },
  {
    read: ({ resources }) => (resources.length === 0 ? null : resources),
    each: true,
    looseFoldFor: (matcher) => (namesQuery(matcher) ? looseUri : bareUri),
    rules: { problemOf },
  },
);

/** A parsed URI has other characters in their encoding, so that a part of it would never match. */
function problemOf(value: string, operator: keyof StringMatcher): string | undefined {
  const isPart = operator === 'contains' || operator === 'ends_with';
  if (!isPart || /^[ -~]*$/.test(value)) return undefined;
  return 'must be written as in a URL: with characters beyond ASCII encoded';
}
