import { dirname, isAbsolute, join } from 'node:path';

import type { Environment } from '../../shared/runtime/environment.ts';
import { CommandFailure } from '../command-failure.ts';
import { describeUser } from '../explain/describe-user.ts';
import { RequestExplainer } from '../explain/explain-request.ts';
import { readFiles } from '../explain/read-files.ts';
import type { ExplainReport } from '../explain/report.ts';
import type { CaseFile, PolicyTestCase } from './case-file.ts';
import type { ReadCases } from './read-case-file.ts';

/** The result of a case. */
export interface CaseResult {
  readonly name: string;
  /** `FILE:LINE` of the case. */
  readonly place: string;
  /** Absent if it passed. */
  readonly failure?: CaseFailure;
}

/** Why a case failed. */
export interface CaseFailure {
  /** One line each. */
  readonly messages: readonly string[];
  /** Absent if the request could not be made. */
  readonly report?: ExplainReport;
}

/** What the manifests are read with. */
export interface RunOptions {
  readonly environment: Environment;
  readonly devAllowLoopback: boolean;
}

/** Runs the cases of a file. Throws `CommandFailure` if its manifests have problems. */
export async function runCases(
  { name, file, lineOf }: ReadCases,
  options: RunOptions,
): Promise<readonly CaseResult[]> {
  const folder = dirname(name);
  const paths = file.manifests.map((path) => (isAbsolute(path) ? path : join(folder, path)));
  const snapshot = await readFiles({ ...options, paths });
  const { devAllowLoopback } = options;
  const service = 'gatehouse';
  using explainer = await RequestExplainer.open(snapshot, { devAllowLoopback, service });
  const results: CaseResult[] = [];
  for (const [index, each] of file.cases.entries()) {
    const failure = await failureOf(each, file, explainer);
    const place = `${name}:${String(lineOf(`cases[${String(index)}]`))}`;
    results.push({ name: each.name, place, ...(failure && { failure }) });
  }
  return results;
}

async function failureOf(
  each: PolicyTestCase,
  file: CaseFile,
  explainer: RequestExplainer,
): Promise<CaseFailure | undefined> {
  const report = await ask(each, file, explainer);
  if (typeof report === 'string') return { messages: [report] };
  const messages = [...wrongDecision(each, report), ...missingReasons(each, report)];
  return messages.length === 0 ? undefined : { messages, report };
}

/** Returns why the request cannot be made, if so. */
async function ask(
  { user: userName, request = {} }: PolicyTestCase,
  { route, users = {} }: CaseFile,
  explainer: RequestExplainer,
): Promise<ExplainReport | string> {
  const user = userName === undefined ? undefined : users[userName];
  const isPlaced = request.route !== undefined || request.url !== undefined;
  try {
    return await explainer.explain({
      request: isPlaced || route === undefined ? request : { ...request, route },
      ...(user && { user: describeUser(user) }),
    });
  } catch (error) {
    if (error instanceof CommandFailure) return error.message;
    throw error;
  }
}

function wrongDecision({ expect }: PolicyTestCase, { decision }: ExplainReport): readonly string[] {
  return decision === expect ? [] : [`expected ${expect}, and the decision is ${decision}`];
}

function missingReasons(
  { reasons = [] }: PolicyTestCase,
  report: ExplainReport,
): readonly string[] {
  const missing = reasons.filter((reason) => !report.reasons.includes(reason));
  if (missing.length === 0) return [];
  const has = report.reasons.length === 0 ? 'none' : report.reasons.join(', ');
  return [`expected the reasons ${missing.join(', ')}, and the decision has ${has}`];
}
