// Known answers for one mechanism: `node run.js vectors/gauss-cov.json`. Put your own function in the place of `answer`.
// Exit status: 0 if every answer was right and there was one, 1 otherwise.
const fs = require("fs");

class Declined extends Error {}

// The output of one question, as arrays of numbers; an exception refuses it. This example is gauss-cov.
function answer(question) {
  if (question.kind !== "release" || question.mechanism !== "gauss-cov") throw new Declined();
  const { x, noise, parameters } = question;
  const { rho, row_bound: bound = 1, on_large_rows: large = "clip" } = parameters;
  const d = noise.length, numbers = [...x.flat(), ...noise.flat(), rho, bound];
  const symmetric = noise.every((row, i) => row.length === d && row.every((v, j) => v === noise[j][i]));
  if (!["wigner", "goe"].includes(parameters.ensemble ?? "wigner")) throw new RangeError("the ensemble");
  if (!x.length || !symmetric || x.some((row) => row.length !== d) || !numbers.every(Number.isFinite) || rho <= 0 || bound <= 0)
    throw new RangeError("a shape, a number or a budget");
  const norms = x.map((row) => Math.hypot(...row) / bound);
  if (large === "raise" && Math.max(...norms) > 1) throw new RangeError("a long row");
  const rows = x.map((row, k) => row.map((v) => v / bound / Math.max(1, norms[k])));
  const sigma = 1 / (rows.length * Math.sqrt(rho));
  const entry = (i, j) => rows.reduce((sum, row) => sum + row[i] * row[j], 0) / rows.length + sigma * noise[i][j];
  return noise.map((row, i) => row.map((_, j) => entry(i, j) * bound ** 2));
}

// A number of an output: p/q, hexadecimal as C's %a prints it, decimal, or a number.
function number(value) {
  if (typeof value !== "string") return value;
  const hex = /^([+-]?)0x([0-9a-f]+)\.?([0-9a-f]*)p([+-]?\d+)$/i.exec(value);
  if (hex) {
    const size = parseInt(hex[2] + hex[3], 16) * 2 ** (Number(hex[4]) - 4 * hex[3].length);
    return hex[1] === "-" ? -size : size;
  }
  const [p, q = 1] = value.split("/").map(Number);
  return p / q;
}

const { tests, tolerances } = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const count = { right: 0, wrong: 0, declined: 0 };
for (const test of tests) {
  let good;
  try {
    const expected = [test.output ?? []].flat(Infinity).map(number), got = [answer(test)].flat(Infinity);
    const limit = tolerances[test.tolerance ?? "exact"];
    const allowed = limit.relative * Math.max(limit.floor, ...expected.map(Math.abs));
    good = test.result === "valid" && got.length === expected.length && got.every((v, k) => Math.abs(v - expected[k]) <= allowed);
  } catch (error) {
    if (error instanceof Declined) { count.declined++; continue; }
    good = test.result === "invalid";
  }
  count[good ? "right" : "wrong"]++;
  if (!good) console.log(`test ${test.id} is wrong: ${test.comment}`);
}
console.log(`${count.right} right, ${count.wrong} wrong, ${count.declined} declined`);
process.exit(count.right && !count.wrong ? 0 : 1);
