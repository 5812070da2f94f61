/** Returns a token with its ECDSA signature in DER, which JWTs do not use (RFC 7518, section 3.4). */
export function withSignatureInDer(token: string): string {
  const end = token.lastIndexOf('.') + 1;
  const signature = Buffer.from(token.slice(end), 'base64url');
  return token.slice(0, end) + inDer(signature).toString('base64url');
}

/** RFC 3279, section 2.2.3: a sequence of two integers. */
function inDer(signature: Buffer): Buffer {
  const half = signature.length / 2;
  const parts = [signature.subarray(0, half), signature.subarray(half)].map(derInteger);
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0x30, content.length]), content]);
}

function derInteger(bytes: Buffer): Buffer {
  const sign = (bytes[0] ?? 0) >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0);
  const value = Buffer.concat([sign, bytes]);
  return Buffer.concat([Buffer.from([0x02, value.length]), value]);
}
