import { loosePath } from '../../paths/loose-path.ts';
import { matcherCriterion } from '../operands/matcher-criterion.ts';
import { rememberLast } from '../operands/remember-last.ts';
import { requestPathProblem } from './request-path-problem.ts';

/** All criteria of a policy read the same path. Attack: a policy may have a thousand of them. */
const looseFold = rememberLast(loosePath);

/** The path of the request, as it was sent and as a lenient upstream reads it. */
export const httpPath = matcherCriterion(
  {
    name: 'http_path',
    reasons: { whenTrue: 'http-path-ok', whenFalse: 'http-path-unauthorized' },
    row: {
      looksAt: 'the path of the request as it was sent, without the query',
      compares: 'a text, exactly',
    },
  },
  {
    read: ({ path }) => path,
    looseFoldFor: () => looseFold,
    rules: { problemOf: requestPathProblem },
  },
);
