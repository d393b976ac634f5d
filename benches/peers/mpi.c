/*
 * Transitions of an f32 matrix over MPI collectives, timed as benches/threads times its own.
 *
 *   mpicc -O3 -o mpi mpi.c && mpirun -n 2 ./mpi 'S0->R' 4096 4096 'P->R' 32 32
 *
 * Takes triples of transition, rows and columns, and prints a line of JSON for each that it knows:
 *
 *   S0->R   all-gather                     P->R    all-reduce
 *   P->S0   reduce-scatter                 S0->S1  all-to-all of strided pieces
 *
 * S0->S1 has a second line, "MPI, packed before": an all-to-all of pieces that lie packed already, which
 * is only a part of the transition. Values of one call are compared with a model before timing.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum op { GATHER, REDUCE, REDUCE_SCATTER, STRIDED, PACKED };

struct job {
    enum op op;
    int rows, columns, ranks, rank;
    float *in, *out;
    MPI_Datatype piece;
};

static void call(const struct job *job)
{
    int all = job->rows * job->columns, part = all / job->ranks;
    MPI_Comm world = MPI_COMM_WORLD;
    switch (job->op) {
    case GATHER:
        MPI_Allgather(job->in, part, MPI_FLOAT, job->out, part, MPI_FLOAT, world);
        break;
    case REDUCE:
        MPI_Allreduce(job->in, job->out, all, MPI_FLOAT, MPI_SUM, world);
        break;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter_block(job->in, job->out, part, MPI_FLOAT, MPI_SUM, world);
        break;
    case STRIDED:
        MPI_Alltoall(job->in, 1, job->piece, job->out, part / job->ranks, MPI_FLOAT, world);
        break;
    case PACKED:
        MPI_Alltoall(job->in, part / job->ranks, MPI_FLOAT, job->out, part / job->ranks, MPI_FLOAT, world);
        break;
    }
}

/* Element number i is i mod 1009; a term is that plus its rank. */
static void fill(const struct job *job)
{
    int all = job->rows * job->columns, summed = job->op == REDUCE || job->op == REDUCE_SCATTER;
    int len = summed ? all : all / job->ranks, first = summed ? 0 : job->rank * len;
    for (int i = 0; i < len; i++)
        job->in[i] = (float)((first + i) % 1009 + (summed ? job->rank : 0));
}

static int is_wrong(const struct job *job)
{
    int all = job->rows * job->columns, n = job->ranks, wrong = 0;
    int len = job->op == GATHER || job->op == REDUCE ? all : all / n;
    for (int i = 0; i < len; i++) {
        int width = job->columns / n, at = i;
        if (job->op == REDUCE_SCATTER)
            at = job->rank * len + i;
        if (job->op == STRIDED)
            at = i / width * job->columns + job->rank * width + i % width;
        if (job->op == PACKED)
            at = i / (len / n) * len + job->rank * (len / n) + i % (len / n);
        int summed = job->op == REDUCE || job->op == REDUCE_SCATTER;
        wrong |= job->out[i] != (float)(summed ? n * (at % 1009) + n * (n - 1) / 2 : at % 1009);
    }
    return wrong;
}

/* Microseconds of one of so many calls on the slowest rank. */
static double sample(const struct job *job, int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        call(job);
    double us = (MPI_Wtime() - start) * 1e6 / calls;
    MPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return us;
}

static void measure(const char *name, const char *op, struct job *job)
{
    size_t bytes = sizeof(float) * (size_t)job->rows * (size_t)job->columns;
    job->in = malloc(bytes);
    job->out = malloc(bytes);
    if (!job->in || !job->out)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(job->out, 0, bytes);
    fill(job);
    MPI_Type_vector(job->rows / job->ranks, job->columns / job->ranks, job->columns, MPI_FLOAT, &job->piece);
    MPI_Type_create_resized(job->piece, 0, (MPI_Aint)sizeof(float) * job->columns / job->ranks, &job->piece);
    MPI_Type_commit(&job->piece);
    call(job);
    if (is_wrong(job)) {
        fprintf(stderr, "%s, %s of %d x %d: wrong values\n", name, op, job->rows, job->columns);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int calls = 1, samples = bytes > 1 << 23 ? 9 : 15;
    while (sample(job, calls) * calls < 1000)
        calls *= 2;
    if (job->rank == 0)
        printf("{\"by\":\"%s\",\"op\":\"%s\",\"mesh\":[%d],\"shape\":[%d,%d],\"samples_us\":[", name, op,
               job->ranks, job->rows, job->columns);
    /* A busy machine does not hold the run up: no sample is begun after three seconds. */
    double start = MPI_Wtime();
    for (int i = 0, on = 1; i < samples && on; i++) {
        double us = sample(job, calls);
        on = MPI_Wtime() - start < 3;
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (job->rank == 0)
            printf("%s%.3f", i ? "," : "", us);
    }
    if (job->rank == 0)
        printf("]}\n");
    free(job->in);
    free(job->out);
    MPI_Type_free(&job->piece);
}

int main(int argc, char **argv)
{
    static const char *const known[] = {"S0->R", "P->R", "P->S0", "S0->S1"};
    struct job job = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    for (int i = 1; i + 2 < argc; i += 3) {
        job.rows = atoi(argv[i + 1]);
        job.columns = atoi(argv[i + 2]);
        for (int op = GATHER; op <= STRIDED; op++)
            if (strcmp(argv[i], known[op]) == 0) {
                job.op = (enum op)op;
                measure("MPI", argv[i], &job);
                if (op == STRIDED) {
                    job.op = PACKED;
                    measure("MPI, packed before", argv[i], &job);
                }
            }
    }
    MPI_Finalize();
    return 0;
}
