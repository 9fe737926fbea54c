// Calls every RPC once. Arguments: the repository, the daemon's address, where the proof goes.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const [root, address, output] = process.argv.slice(2);
const definition = loader.loadSync("cuzk/v1/proving.proto", {
  keepCase: true, longs: String, enums: String, defaults: true, includeDirs: [path.join(root, "proto")]});
const {ProvingEngine} = grpc.loadPackageDefinition(definition).cuzk.v1;
const client = new ProvingEngine(address, grpc.credentials.createInsecure(), {
  "grpc.max_send_message_length": 256 << 20, "grpc.max_receive_message_length": 256 << 20});

const called = new Set();
function call(method, request) {
  called.add(method);
  return new Promise((resolve, reject) => {
    const deadline = new Date(Date.now() + 60000);
    client[method](request, {deadline}, (error, answer) => error ? reject(error) : resolve(answer));
  });
}
function watch(request) {
  called.add("WatchJob");
  return new Promise((resolve, reject) => {
    const states = [];
    client.WatchJob(request).on("data", s => states.push(s)).on("error", reject)
      .on("end", () => resolve(states));
  });
}
async function refused(code, words, promise) {
  const error = await promise.then(() => assert.fail("was accepted"), e => e);
  assert.equal(error.code, code, String(error));
  assert.ok(error.details.includes(words), error.details);
}

const vanilla = n => fs.readFileSync(path.join(root, "tests/vectors/reference", `window-2KiB.sector${n}.bincode`));
const request = (id, sectors) => ({
  request_id: id, proof_kind: "WINDOW_POST_PARTITION", sector_size: "2048", registered_proof: "10",
  priority: "HIGH", vanilla_proofs: sectors.map(vanilla), miner_id: "1000", partition_index: 0,
  randomness: Buffer.from("b3929a15aefaadad1e512efabfda36bc6742d3beeeb8f8b5952440de717fe532", "hex")});

async function main() {
  assert.equal((await call("PreloadSRS", {circuit_id: "window-2KiB"})).already_loaded, false);
  const id = "wdpost-1000-0-[1 2 3]";
  assert.equal((await call("SubmitProof", request(id, [0, 1]))).job_id, id);
  const states = await watch({job_id: id});
  assert.equal(states.at(-1).state, "completed");
  const done = await call("AwaitProof", {job_id: id, timeout_ms: "60000"});
  assert.equal(done.status, "COMPLETED", done.error_message);
  assert.equal(done.proof.length, 192);
  fs.writeFileSync(output, done.proof);
  const {result} = await call("Prove", {submit: request("second", [1, 0])});
  assert.equal(result.status, "COMPLETED", result.error_message);
  assert.notDeepEqual(result.proof, done.proof);

  const status = await call("GetStatus", {});
  assert.equal(status.total_proofs_completed, "2");
  assert.deepEqual(status.loaded_srs.map(s => [s.circuit_id, s.tier]), [["window-2KiB", "HOT"]]);
  const {prometheus_text} = await call("GetMetrics", {});
  assert.match(prometheus_text, /^cuzk_proofs_completed_total 2$/m);
  const {jobs} = await call("ListJobs", {});
  assert.deepEqual(jobs.map(j => [j.job_id, j.state]), [["second", "completed"], [id, "completed"]]);
  const {events} = await call("GetTimeline", {job_id: id});
  assert.equal(events[0].event, "QUEUED");
  assert.equal(events.at(-1).event, "DONE");
  assert.equal((await call("CancelProof", {job_id: id})).was_running, false);
  assert.equal((await call("EvictSRS", {circuit_id: "window-2KiB"})).was_loaded, true);

  const {INVALID_ARGUMENT, NOT_FOUND} = grpc.status;
  await refused(NOT_FOUND, "job not found: nobody", call("AwaitProof", {job_id: "nobody"}));
  await refused(INVALID_ARGUMENT, "randomness: expected 32 bytes",
    call("SubmitProof", {...request("", [0]), randomness: Buffer.alloc(31)}));
  assert.deepEqual([...called].sort(), Object.keys(ProvingEngine.service).sort());
  client.close();
  console.log(`${called.size} RPCs`);
}
main().catch(e => { console.error(e); process.exit(1); });
